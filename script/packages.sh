# Sourced by its neighbours: Debian's packages that tests of the whole need. POSIX sh.

# Print the packages whose programs are not there.
missing_packages() {
  for pair in chromium:chromium nginx:nginx-light redis-server:redis-server sshd:openssh-server cc:gcc haproxy:haproxy pgbouncer:pgbouncer socat:socat ip:iproute2 bwrap:bubblewrap \
    fio:fio sysbench:sysbench hyperfine:hyperfine prometheus:prometheus prometheus-node-exporter:prometheus-node-exporter \
    apache2:apache2-bin puma:puma mosquitto:mosquitto; do
    PATH="$PATH:/usr/sbin:/sbin" command -v "${pair%%:*}" >/dev/null || echo "${pair#*:}"
  done
  ls /usr/include/stdlib.h >/dev/null 2>&1 || echo libc6-dev
  ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || echo postgresql
  # createrepo_c's wheel, and so pulp_rpm, brings every library but this one.
  PATH="$PATH:/usr/sbin:/sbin" ldconfig -p | grep -q libgobject-2.0.so.0 || echo libglib2.0-0
  ls /usr/share/fonts/truetype/dejavu >/dev/null 2>&1 || echo fonts-dejavu-core
}

# Print the packages that podman needs to run containers without a registry of images, and are not there.
packages_of_containers() {
  for package in podman buildah runc iptables netavark aardvark-dns catatonit debootstrap; do
    dpkg-query -W "$package" >/dev/null 2>&1 || echo "$package"
  done
}

# Install the packages given where that is possible, and say so where it is not. No service is started.
install_packages() {
  [ $# -gt 0 ] || return 0
  become=
  if [ "$(id -u)" != 0 ]; then
    become="sudo -n"
  fi
  if ! command -v apt-get >/dev/null || ! $become true 2>/dev/null; then
    echo "Missing: $* (install them, or run as root on Debian); tests that need them fail." >&2
    return 0
  fi
  echo "Installing $* ..." >&2
  log=$(mktemp)
  if ! $become sh -s -- "$@" >"$log" 2>&1 <<'INSTALL'
    set -eu
    export DEBIAN_FRONTEND=noninteractive
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
      trap 'rm -f "$policy"' EXIT
      printf '#!/bin/sh\nexit 101\n' >"$policy"
      chmod 755 "$policy"
    fi
    apt-get update -q
    apt-get install -q -y --no-install-recommends "$@"
INSTALL
  then
    cat "$log" >&2
    echo "apt could not install: $*; tests that need them fail." >&2
  fi
  rm -f "$log"
}
