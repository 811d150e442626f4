#!/bin/sh
# boot.sh DISK GROUP: becomes a machine with a systemd of its own.
#
# The caller has made the namespaces' outermost one (mounts). DISK is a tmpfs
# that outlives the machine; GROUP a name for its cgroup. What the machine sees is
# this system, read-only, with DISK/upper on top: whatever it writes stays there.
# It has no service of this system's own, no way to its devices, its sysctls or
# its other cgroups.
set -eu
disk=$1 group=$2
if [ "${3:-}" != inside ]; then
  mkdir -p "$disk/cgroups"
  mount -t cgroup2 cgroup2 "$disk/cgroups"
  mkdir -p "$disk/cgroups/$group"
  echo $$ >"$disk/cgroups/$group/cgroup.procs"
  exec unshare --pid --mount --net --uts --ipc --cgroup --fork --kill-child \
    sh "$0" "$disk" "$group" inside
fi

root=$disk/root
mkdir -p "$root" "$disk/upper" "$disk/work"
mount -t overlay overlay -o "lowerdir=/,upperdir=$disk/upper,workdir=$disk/work" "$root"
cd "$root"
if [ ! -e etc/floatrelay-machine ]; then # its first boot
  rm -rf etc/systemd/system etc/fstab etc/rc?.d etc/modules-load.d
  mkdir -p etc/systemd/system
  cat /proc/sys/kernel/random/uuid | tr -d - >etc/machine-id
  echo machine >etc/hostname
  : >etc/floatrelay-machine
fi
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
cat /proc/sys/kernel/random/uuid >"$disk/boot_id" # another boot, as after a power cut
mount --bind "$disk/boot_id" proc/sys/kernel/random/boot_id
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs dev
for d in null zero full random urandom tty; do
  : >"dev/$d"
  mount --bind "/dev/$d" "dev/$d"
done
ln -s /proc/self/fd dev/fd
mkdir dev/shm

ip link set lo up
ip link add eth0 address 02:00:00:00:00:01 type veth peer name cable
ip addr add 10.77.0.11/24 dev eth0
ip link set eth0 up
ip link set cable up
ip route add default via 10.77.0.254
exec env -i container=floatrelay PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot . \
  /lib/systemd/systemd --system --show-status=no --log-target=null
