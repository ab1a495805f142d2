#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Make the files of a release from the last commit: build/release-files/xylem-VERSION.tar.gz (the sources), the packages of
# make package, and SHA256SUMS.
#
#   scripts/release.sh           the tree must be clean, and NEWS.md, CITATION.cff and xylem.h must agree on the version
#   scripts/release.sh --check   only compare the versions
set -euo pipefail
cd "$(dirname "$0")/.."

version=$(sed -n 's/^#define XYLEM_VERSION *"\([0-9.]*\)"$/\1/p' include/xylem.h)
fail() {
    echo "release: $1" >&2
    exit 1
}
[ -n "$version" ] || fail "include/xylem.h has no XYLEM_VERSION"
grep -q "^## $version" NEWS.md || fail "the first heading of NEWS.md does not name $version"
grep -qx "version: $version" CITATION.cff || fail "CITATION.cff does not name $version"
grep -q "^Version ${version%.*}\." SUPPORTED.md || fail "SUPPORTED.md does not name ${version%.*}"
[ "${1:-}" != --check ] || exit 0
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
! grep -q "^## $version, in the making" NEWS.md || fail "NEWS.md says that $version is in the making; write its date"

out=build/release-files
rm -rf "$out"
mkdir -p "$out"
git archive --format=tar.gz --prefix="xylem-$version/" -o "$out/xylem-$version.tar.gz" HEAD
scripts/package.sh
cp build/package/xylem-"$version"-*.* "$out/"
(cd "$out" && sha256sum xylem-* >SHA256SUMS)
cat "$out/SHA256SUMS"
