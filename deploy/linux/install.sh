#!/bin/sh
# Installs or upgrades floatrelay on this machine, as root, from the folder of
# the unpacked archive:
#
#   ./install.sh --site-ini /mnt/deploy/site.ini --station POS-07
#
# Run again, it upgrades: the lease is handed over, the program replaced, the
# service started. The program before is kept as floatrelay.previous; --rollback
# puts it back.
set -eu

prefix=/usr/local/bin etc=/etc/floatrelay site='' station='' user='' service=yes rollback=no firewall=''
fail() { echo "install.sh: $*" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=$2; shift 2 ;;       # folder of the program
    --etc) etc=$2; shift 2 ;;             # folder of stk.ini
    --site-ini) site=$2; shift 2 ;;       # a stk.ini for the whole site, without STATION
    --station) station=$2; shift 2 ;;     # this machine; needed with --site-ini
    --user) user=$2; shift 2 ;;           # account of the service; default root
    --firewall) firewall=--firewall; shift ;; # open the ports in nftables
    --no-service) service=no; shift ;;    # copy only
    --rollback) rollback=yes; shift ;;
    *) fail "unknown option $1" ;;
  esac
done
here=$(cd "$(dirname "$0")" && pwd)
exe=$prefix/floatrelay ini=$etc/stk.ini fresh=$here/floatrelay
[ "$rollback" = no ] || fresh=$prefix/floatrelay.previous
[ -f "$fresh" ] || fail "$fresh is not there"
mkdir -p "$prefix" "$etc"

# stk.ini is made once and then left alone.
if [ ! -f "$ini" ]; then
  umask 077
  if [ -z "$site" ]; then
    cp "$here/stk.ini.template" "$ini"
    fail "fill in $ini, then run this again"
  fi
  [ -n "$station" ] || fail "--site-ini needs --station"
  { printf 'STATION=%s\r\n' "$station"; cat "$site"; } > "$ini.new"
  [ -z "$user" ] || chown "$user" "$ini.new"
  mv "$ini.new" "$ini"
  umask 022
fi
"$fresh" config --check --config "$ini" || fail "correct $ini, then run this again"

running=no
if [ "$service" = yes ] && [ -f /etc/systemd/system/floatrelay.service ]; then
  running=yes
  "$exe" service stop || fail "the service does not stop; nothing was changed"
fi
if [ "$rollback" = no ] && [ -f "$exe" ]; then
  cp -p "$exe" "$prefix/floatrelay.previous"
fi
# Renamed into place: the old program may still be running for a moment.
cp "$fresh" "$exe.new" && chmod 755 "$exe.new" && mv "$exe.new" "$exe"
[ "$service" = yes ] || exit 0

if [ "$running" = no ]; then
  set -- --config "$ini" $firewall
  [ -z "$user" ] || set -- "$@" --user "$user"
  "$exe" service install "$@"
fi
"$exe" service start
sleep 3
"$exe" members --config "$ini"
