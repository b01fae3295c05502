#!/usr/bin/env bash
# Installs the Debian packages sbps needs, and only those that are missing.
#   install-packages.sh build   to compile and run
#   install-packages.sh check   the same, and what `make check` uses
#   install-packages.sh test    the same, and what `make test` uses as references
#   install-packages.sh all     the same, and what `make test-all` uses: the other compiler and its checks, R CMD check, a browser
#   install-packages.sh bench   to compile and run, and the benchmark's peers
#   install-packages.sh figures to compile and run, and to draw the paper's figures
# When nothing is missing it does nothing and needs no network.
set -euo pipefail

build=(gcc libc6-dev cmake ninja-build pkg-config libnetcdf-dev zlib1g-dev
       libopenblas-dev liblapacke-dev librandom123-dev)
extras=(libzstd-dev liblzma-dev # may be missing: tables packed by zstd and xz; without them CMake leaves these out
        libopenmpi-dev openmpi-bin) # ranks, likewise
browsers=(chromium) # pages are looked at by it; without it those tests are skipped
friends=(r-cran-codetools r-cran-loo r-cran-bayesplot r-cran-rstantools r-cran-lme4 r-cran-knitr r-cran-data.table r-cran-emmeans r-cran-insight r-cran-bayestestr r-cran-parameters) # R's packages that ours works with; tests say what they leave out without them
r_checkers=(qpdf devscripts) # programs that R CMD check asks for, likewise
strangers=(libgdal32) # hands over Arrow streams that are not ours; without it that test is skipped
painters=(python3 python3-numpy python3-netcdf4 gnuplot-nox fonts-dejavu-core)
checkers=(clang-format python3)
referees=(netcdf-bin python3-numpy python3-netcdf4 python3-xarray python3-scipy python3-sklearn r-base-core r-cran-posterior)
peers=(python3 python3-numpy python3-netcdf4 g++ libboost-dev r-base-dev r-cran-posterior r-cran-rstan
       r-cran-data.table python3-sklearn)

case "${1:-build}" in
build) wanted=("${build[@]}" "${extras[@]}") ;;
check) wanted=("${build[@]}" "${extras[@]}" "${checkers[@]}") ;;
test | all) wanted=("${build[@]}" "${extras[@]}" "${checkers[@]}" "${referees[@]}" "${friends[@]}" "${strangers[@]}") ;;&
all) wanted+=(clang clang-tidy "${painters[@]}" "${browsers[@]}" "${r_checkers[@]}") ;;
test) ;;
bench) wanted=("${build[@]}" "${extras[@]}" "${peers[@]}") ;;
figures) wanted=("${build[@]}" "${extras[@]}" "${painters[@]}") ;;
*) echo "usage: install-packages.sh build|check|test|all|bench|figures" >&2; exit 2 ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "This is not a Debian system; sbps needs what these packages hold: ${wanted[*]}" >&2
    exit 0 # CMake says what is really missing
fi

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | sed -n 1p)" = installed ]
}

missing=()
for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

needs_more_than_extras() {
    local package
    for package in "${missing[@]}"; do
        case " ${extras[*]} ${browsers[*]} ${friends[*]} ${r_checkers[*]} ${strangers[*]} " in *" $package "*) ;; *) return 0 ;; esac
    done
    return 1
}

give_up() {
    needs_more_than_extras || { echo "sbps is built without ${missing[*]}. $1" >&2; exit 0; }
    echo "sbps needs these Debian packages: ${missing[*]}" >&2
    echo "$1 Ask an administrator to run: apt-get install ${missing[*]}" >&2
    exit 1
}

as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || give_up "They are missing, you are not root and there is no sudo."
    if ! sudo -n true 2>/dev/null && ! [ -t 0 ]; then
        give_up "They are missing, and sudo would ask for a password here."
    fi
    as_root=(sudo)
fi

apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@"
}

install_missing() {
    apt_get install -y --no-install-recommends "${missing[@]}"
}

# Package lists may be absent (a fresh image) or stale (a fetch then fails): update only then.
all_are_known() {
    local package
    for package in "${missing[@]}"; do
        apt-cache show --no-all-versions "$package" >/dev/null 2>&1 || return 1
    done
}

echo "Installing Debian packages: ${missing[*]}"
if all_are_known && install_missing; then exit 0; fi
apt_get update || give_up "The package lists could not be fetched."
install_missing || give_up "Installing them failed."
