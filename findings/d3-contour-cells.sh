#!/bin/sh
# The outline of a grid of values.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund d3-contour@4.0.3

cat > run.mjs <<'PROGRAM'
import { contours } from 'd3-contour';

const size = 7;
/** Ten minutes are left in the middle cell, or in the nine in the middle; `far` is the value of all others. */
function outline(cells, far) {
  const away = (at) => Math.abs(at - 3);
  const left = Array.from({ length: size * size }, (_, at) =>
    Math.max(away(at % size), away(Math.floor(at / size))) < cells / 2 ? 10 : far,
  );
  const { coordinates } = contours().size([size, size]).contour(left, 0);
  const xs = coordinates.flat(2).map(([x]) => x);
  return xs.length === 0 ? 'nothing' : `x from ${Math.min(...xs).toFixed(2)} to ${Math.max(...xs).toFixed(2)}`;
}

for (const far of [-10, -1000, -Infinity, NaN]) {
  console.log(`all others ${far}: of one cell ${outline(1, far)}, of three ${outline(3, far)}`);
}
PROGRAM
cat > expected <<'EXPECTED'
all others -10: of one cell x from 3.00 to 4.00, of three x from 2.00 to 5.00
all others -1000: of one cell x from 3.49 to 3.51, of three x from 2.49 to 4.51
all others -Infinity: of one cell nothing, of three x from 2.50 to 4.50
all others NaN: of one cell nothing, of three x from 2.50 to 4.50
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: d3-contour 4.0.3, source https://github.com/d3/d3-contour
Behaviour: The value with index 3 lies at coordinate 3.5. The outline lies where the value interpolated between two cells is the
  threshold, so a very small value beside an area moves it to the centres of the outermost cells, and an area of one cell,
  surrounded by -Infinity or NaN, has no outline at all.
Why a good guess is wrong: One expects the value of column 3 at x = 3, so a map is off by half a cell, in both directions. And
  "unreachable" is naturally an infinite time: then islands of one cell, such as a lonely stop, disappear without an error.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
