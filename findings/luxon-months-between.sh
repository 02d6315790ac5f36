#!/bin/sh
# Months between the end of January and the end of February.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund luxon@3.7.2

cat > run.mjs <<'PROGRAM'
import { DateTime } from 'luxon';

for (const day of [27, 28, 29, 30, 31]) {
  const start = DateTime.utc(2026, 1, day);
  const months = DateTime.utc(2026, 2, 28).diff(start, 'months').months.toFixed(3);
  const toMarch = DateTime.utc(2026, 3, 1).diff(start, ['months', 'days']).toObject();
  console.log(`from ${day} January: to 28 February ${months} months, to 1 March`, JSON.stringify(toMarch));
}
PROGRAM
cat > expected <<'EXPECTED'
from 27 January: to 28 February 1.036 months, to 1 March {"months":1,"days":2}
from 28 January: to 28 February 1.000 months, to 1 March {"months":1,"days":1}
from 29 January: to 28 February 1.000 months, to 1 March {"months":1,"days":1}
from 30 January: to 28 February 1.000 months, to 1 March {"months":1,"days":1}
from 31 January: to 28 February 1.000 months, to 1 March {"months":1,"days":1}
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: `diff` of luxon 3.7.2, source https://github.com/moment/luxon
Behaviour: 28, 29, 30 and 31 January are all exactly one month before 28 February, and differences of months and days
  from these days to 1 March are the same too.
Why a good guess is wrong: A result with fractions suggests a measure, where an earlier start gives a greater
  difference. It is the greatest number of months that can be added, and adding shortens to the end of the month.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
