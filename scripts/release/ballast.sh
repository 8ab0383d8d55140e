#!/bin/sh
# Runs Ballast with the Node beside this file or, where that cannot run, as with musl, with the Node of the machine.
here=$(dirname "$(readlink -f "$0")")
for node in "$here/node" node; do
  if "$node" --version > /dev/null 2>&1; then exec "$node" "$here/dist/src/main.js" "$@"; fi
done
echo "ballast: cannot run: the Node in $here does not start on this machine, and there is no other node in its PATH. It needs glibc 2.34, libstdc++ and the processor of this archive: install Node 24 (on Alpine: apk add nodejs), or take the archive that fits $(uname -m)" >&2
exit 2
