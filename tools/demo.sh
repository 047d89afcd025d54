#!/bin/sh
# The main job from end to end on a synthetic city. Everything stays in one directory, made anew each time.
# usage: tools/demo.sh SAFESIDE DIR
set -eu
safeside=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
rm -rf "$2"
mkdir -p "$2"
cd "$2"
# What the ledger keeps outside its file stays in the demo as well.
SAFESIDE_STATE_DIR=$(pwd)/state
export SAFESIDE_STATE_DIR

step() {
    printf '\n$ safeside %s\n' "$*"
    "$safeside" "$@"
}

echo "1. A synthetic city: private visits, a public list of places."
step generate .
echo
echo "2. What can be said of a day, hour by hour? No data is read for this."
step plan --places places.csv --when 2013-12-22 --timezone Asia/Tokyo --every 1h --profile hours.csv --at-most 5 --epsilon 1
echo
echo "3. Once for every dataset: settings, a signing key, a budget that cannot be reset."
step init --timezone Asia/Tokyo --dataset city --yes
step key create
step ledger create --epsilon 2
echo
echo "4. Look at the data before anything is spent."
step check visits.parquet --places places.csv --when 2013-12-22
echo
echo "5. Publish the day, every place in every hour: the promise and the price first, then the answers."
step publish visits.parquet --places places.csv --when 2013-12-22 --every 1h --profile hours.csv \
    --at-most 5 --epsilon 1 --basemap basemap.geojson --out release --yes
echo
echo "6. Anyone with the public key can check it; the ledger says what it cost."
step verify release --key safeside.key.pub
step ledger show city

printf '\nOpen the map: %s/release/map.html\n' "$(pwd)"
