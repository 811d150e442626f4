#!/bin/sh
# Installs or upgrades floatrelay on this machine, as root, from the folder of
# the unpacked archive:
#
#   ./install.sh --site-ini /mnt/deploy/site.ini --station POS-07
#
# Run again, it upgrades: the lease is handed over, the program replaced, the
# service started. The program before is kept as floatrelay.previous; --rollback
# puts it back. It ends with 0 if this machine is a member afterwards, else with 1.
set -eu

prefix=/usr/local/bin etc=/etc/floatrelay site='' station='' user='' service=yes rollback=no firewall=''
unit=/etc/systemd/system/floatrelay.service
fail() { echo "install.sh: $*" >&2; exit 1; }
while [ $# -gt 0 ]; do
  case $1 in
    --prefix | --etc | --site-ini | --station | --user)
      case ${2:-} in '' | -*) fail "$1 needs a value" ;; esac ;;
  esac
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
umask 022
mkdir -p "$prefix" "$etc" || fail "run it as root"
# Who can change these folders decides what root runs, and with which secret.
for dir in "$prefix" "$etc"; do
  [ -z "$(find "$dir" -maxdepth 0 -perm -0002)" ] || fail "$dir can be changed by every account: chmod o-w it, then run this again"
done

# protect gives stk.ini, which holds the site's secret, to the service's account.
protect() {
  [ -z "$user" ] || chown "$user" "$1" || fail "the rights of $1 cannot be set: is there an account '$user'?"
}

# first_bytes prints how many bytes of site.ini were asked for, in hexadecimal.
first_bytes() { head -c "$1" "$site" | od -An -tx1 | tr -d ' \n'; }

# site_ini prints this machine's stk.ini. Bytes are copied as they are: the file
# may be in any encoding that floatrelay reads; so the line before it is ASCII, and
# a byte order mark stays in front.
site_ini() {
  skip=1
  if [ "$(first_bytes 3)" = efbbbf ]; then
    printf '\357\273\277' && skip=4
  fi
  printf 'STATION=%s\r\n' "$station" && tail -c +$skip "$site"
}

check_site() {
  [ -n "$station" ] || fail "--site-ini needs --station"
  ! printf %s "$station" | LC_ALL=C grep -q '[^!-~]' ||
    fail "write a STATION with other than ASCII characters into stk.ini by hand"
  [ -f "$site" ] && [ -r "$site" ] || fail "$site is not there"
  case $(first_bytes 2) in fffe | feff) fail "$site is UTF-16: save it as UTF-8" ;; esac
  ! tr '\r\032' '\n\n' < "$site" | LC_ALL=C grep -iq '^[^!-~]*STATION[^!-~]*=' ||
    fail "$site has a STATION, which all machines would get: take that line out"
}

# stk.ini is made once and its text then left alone.
if [ ! -f "$ini" ]; then
  [ -z "$site" ] || check_site
  trap 'rm -f "$ini.new"' EXIT
  (
    umask 077
    if [ -n "$site" ]; then site_ini; else cat "$here/stk.ini.template"; fi > "$ini.new"
  ) || fail "$ini cannot be written"
  protect "$ini.new"
  mv "$ini.new" "$ini"
  [ -n "$site" ] || fail "fill in $ini, then run this again"
elif [ -n "$user" ]; then
  protect "$ini"
fi
"$fresh" config --check --config "$ini" || fail "correct $ini, then run this again"

running=no
if [ "$service" = yes ] && [ -f "$unit" ]; then
  running=yes
  "$exe" service stop || fail "the service does not stop; nothing was changed"
fi

# replace renames the program into place: the old one may still be running for a
# moment, and is whole if this fails.
replace() {
  if [ "$rollback" = no ] && [ -f "$exe" ]; then
    cp -p "$exe" "$prefix/floatrelay.previous" || return 1
  fi
  cp "$fresh" "$exe.new" && chmod 755 "$exe.new" && mv "$exe.new" "$exe"
}
if ! replace; then
  rm -f "$exe.new" || true
  # Whatever is there now goes on.
  [ "$running" = no ] || "$exe" service start || echo "install.sh: nor does the old one start" >&2
  fail "the program cannot be replaced"
fi
[ "$service" = yes ] || exit 0

if [ "$running" = no ]; then
  set -- --config "$ini" $firewall
  [ -z "$user" ] || set -- "$@" --user "$user"
  "$exe" service install "$@" || fail "the service was not installed"
fi
"$exe" service start || fail "the service does not start; see journalctl -u floatrelay"
sleep 3
"$exe" members --config "$ini" || fail "the service runs, but does not say that this PC is a member: see floatrelay doctor"
