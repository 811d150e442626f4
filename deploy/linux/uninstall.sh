#!/bin/sh
# Removes floatrelay from this machine: the lease is handed over, the service
# removed. --firewall also closes what install.sh --firewall opened. stk.ini stays;
# --purge removes it and what floatrelay remembers in STATE_DIR (its identity, its
# history).
set -eu

prefix=/usr/local/bin etc=/etc/floatrelay state=/var/lib/floatrelay purge=no firewall=no
fail() { echo "uninstall.sh: $*" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in --prefix | --etc) case ${2:-} in '' | -*) fail "$1 needs a value" ;; esac ;; esac
  case $1 in
    --prefix) prefix=$2; shift 2 ;;
    --etc) etc=$2; shift 2 ;;
    --firewall) firewall=yes; shift ;;
    --purge) purge=yes; shift ;;
    *) fail "unknown option $1" ;;
  esac
done
exe=$prefix/floatrelay ini=$etc/stk.ini

# configured prints STATE_DIR as the program reads it, or nothing. A path with a
# quote or a backslash is escaped there, and left for whoever chose it.
configured() {
  "$exe" config --json --config "$ini" 2>/dev/null |
    sed -n 's/.*"key":"STATE_DIR","value":"\([^"\\]*\)","origin".*/\1/p'
}
if [ "$purge" = yes ] && [ -x "$exe" ] && [ -f "$ini" ]; then
  state=$(configured)
  case $state in
    /*) ;;
    *) fail "STATE_DIR cannot be told from $ini: run this without --purge, and remove both by hand" ;;
  esac
fi
if [ -f /etc/systemd/system/floatrelay.service ]; then
  "$exe" service uninstall || fail "the service was not removed; nothing else was changed"
fi
if [ "$firewall" = yes ]; then
  "$exe" firewall --remove --apply --config "$ini" || echo "uninstall.sh: the firewall was left as it is" >&2
fi
rm -f "$exe" "$prefix/floatrelay.previous"
[ "$purge" = yes ] || exit 0
rm -f "$ini"
# By name: STATE_DIR may be a folder that holds other things too.
for name in node state.json members.json relay.json history.ndjson daemon.lock daemon.pid guard.lock; do
  rm -f "$state/$name" "$state/$name.new" "$state/$name.damaged"
done
[ ! -d "$state" ] || rmdir "$state" 2>/dev/null || echo "uninstall.sh: $state holds other files and was left" >&2
