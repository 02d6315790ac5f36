#!/bin/sh
# A part of a line between two stops.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund @turf/line-slice@7.4.0 @turf/length@7.4.0

cat > run.mjs <<'PROGRAM'
import { length } from '@turf/length';
import { lineSlice } from '@turf/line-slice';

const slice = (from, to, coordinates) => {
  const part = lineSlice(from, to, { type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates } });
  const rounded = part.geometry.coordinates.map((position) => position.map((degrees) => Math.round(degrees * 1000) / 1000));
  return `${length(part).toFixed(2)} km, from ${rounded[0]} to ${rounded.at(-1)}`;
};
const street = [[151, -33], [151.01, -33], [151.02, -33]];
console.log('street, there:', slice([151.005, -33], [151.015, -33], street));
console.log('street, back: ', slice([151.015, -33], [151.005, -33], street));
// A bus goes around a block, clockwise. Its last stop is where it began.
const block = [[151, -33], [151.01, -33], [151.01, -33.01], [151, -33.01], [151, -33]];
console.log('block, last part:', slice([151, -33.005], [151, -33], block));
PROGRAM
cat > expected <<'EXPECTED'
street, there: 0.93 km, from 151.005,-33 to 151.015,-33
street, back:  0.93 km, from 151.005,-33 to 151.015,-33
block, last part: 3.53 km, from 151,-33 to 151,-33.005
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: @turf/line-slice 7.4.0, source https://github.com/Turfjs/turf
Behaviour: The part always runs in the direction of the line, whichever stop is named first. The terminus of a loop counts as the
  beginning of the line: in place of the last 560 m, the result is the 3.5 km from the beginning to the stop before.
Why a good guess is wrong: The arguments are called start and stop, and a shape of GTFS has a direction, so one expects the way from
  one to the other. A ride back has its arrows reversed, and a ride on a loop shows the way that the rider does not go.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
