#!/bin/sh
# Installs Debian's SLURM for the test that runs a study on it, where nobody has to be asked: for root, with apt-get.
# Elsewhere it changes nothing, and the test skips with a reason. SLURM_TEST=no leaves any machine as it is.
[ "${SLURM_TEST:-yes}" != no ] && [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || exit 0
PATH=$PATH:/usr/sbin:/sbin
command -v slurmctld > /dev/null && command -v slurmd > /dev/null && command -v sbatch > /dev/null && exit 0
packages="slurmctld slurmd slurm-client munge"
echo "installing for the cluster test, with apt-get: $packages (SLURM_TEST=no leaves them out)"
export DEBIAN_FRONTEND=noninteractive
apt() { timeout 180 apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=15 -o DPkg::Lock::Timeout=60 "$@"; }
# shellcheck disable=SC2086
if { apt install -y --no-install-recommends $packages || {
    apt update && apt install -y --no-install-recommends $packages
}; } > /dev/null 2>&1; then
    echo "installed"
else
    echo "not installable: the cluster test will be skipped"
fi
exit 0
