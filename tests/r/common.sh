# Installs the package against the library just built into a temporary folder, which is in R_LIBS.
set -euo pipefail
root=$SBPS_SOURCE_DIR
for program in Rscript make pkg-config; do
    command -v "$program" >/dev/null || { echo "$program is not there: the R package is not tested"; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$SBPS_BUILD_DIR" --prefix "$work/prefix" >/dev/null
cp -r "$root/bindings/R" "$work/sbps"
mkdir "$work/library"
export SBPS_PREFIX=$work/prefix
cd "$work"

install_package() {
    R CMD INSTALL --no-test-load --library="$work/library" sbps >install.log 2>&1 || { cat install.log; exit 1; }
    export R_LIBS=$work/library
}
