#!/bin/sh
# Removes floatrelay from this machine: the lease is handed over, the service
# removed. --firewall also closes what install.sh --firewall opened. stk.ini stays;
# --purge removes it and what floatrelay remembers (its identity, its history).
set -eu

prefix=/usr/local/bin etc=/etc/floatrelay state=/var/lib/floatrelay purge=no firewall=no
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=$2; shift 2 ;;
    --etc) etc=$2; shift 2 ;;
    --firewall) firewall=yes; shift ;;
    --purge) purge=yes; shift ;;
    *) echo "uninstall.sh: unknown option $1" >&2; exit 1 ;;
  esac
done
if [ -f /etc/systemd/system/floatrelay.service ]; then
  "$prefix/floatrelay" service uninstall
fi
if [ "$firewall" = yes ]; then
  "$prefix/floatrelay" firewall --remove --apply --config "$etc/stk.ini" || echo "uninstall.sh: the firewall was left as it is" >&2
fi
rm -f "$prefix/floatrelay" "$prefix/floatrelay.previous"
[ "$purge" = no ] || rm -rf "$etc/stk.ini" "$state"
