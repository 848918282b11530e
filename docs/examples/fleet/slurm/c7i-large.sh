#!/bin/sh
# Survey '2026-12' on a machine of type 'c7i.large', written by `ciphermark fleet plan`. Submit it with: sbatch FILE
# It may be requeued and preempted: it resumes on the same node, and begins anew on another.
#SBATCH --job-name=ciphermark-2026-12-c7i-large
#SBATCH --constraint="c7i"
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --time=30
#SBATCH --chdir=/var/tmp
#SBATCH --output=/dev/null
#SBATCH --partition=bench

[ -x '/opt/ciphermark/bin/ciphermark' ] || exit 72
directory='/var/tmp/ciphermark-2026-12-c7i-large-0'
mkdir -p "$directory" && [ -O "$directory" ] && [ ! -L "$directory" ] && : >"$directory/.try" || exit 73
rm -f "$directory/.try"
cd "$directory" || exit 73
if [ ! -e record.json.sha256 ]; then
  code=0
  if [ -e record.json.partial ]; then
    '/opt/ciphermark/bin/ciphermark' run --quiet --resume record.json >answer.txt 2>>job.log || code=$?
  elif [ ! -e record.json ]; then
    '/opt/ciphermark/bin/ciphermark' run --quiet '--suite' 'quick' --seed 0 -o record.json >answer.txt 2>>job.log || code=$?
  fi
  [ $code = 0 ] || [ $code = 3 ] || exit $code
  sha256sum record.json | cut -d ' ' -f 1 >.sha256 && mv .sha256 record.json.sha256 || exit 73
fi
