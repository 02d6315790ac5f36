#!/bin/sh
# The time 24:00 in luxon.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund luxon@3.7.2

cat > run.mjs <<'PROGRAM'
import { DateTime } from 'luxon';

const zone = 'Australia/Sydney';
for (const time of ['23:59', '24:00', '24:01', '25:00']) {
  const parsed = DateTime.fromFormat(`2026-10-03 ${time}`, 'yyyy-MM-dd HH:mm', { zone });
  console.log(`2026-10-03 ${time}:`, parsed.isValid ? parsed.toFormat('yyyy-MM-dd HH:mm') : 'invalid');
}
console.log('fromObject:', DateTime.fromObject({ year: 2026, month: 12, day: 31, hour: 24 }, { zone }).toISODate());
PROGRAM
cat > expected <<'EXPECTED'
2026-10-03 23:59: 2026-10-03 23:59
2026-10-03 24:00: 2026-10-04 00:00
2026-10-03 24:01: invalid
2026-10-03 25:00: invalid
fromObject: 2027-01-01
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: `fromFormat` and `fromObject` of luxon 3.7.2, source https://github.com/moment/luxon
Behaviour: With the format HH:mm, 24:00 is valid and means midnight of the next day; 24:01 and 25:00 are invalid. So
  the result has another date than the text.
Why a good guess is wrong: The hours of a 24-hour clock end at 23, and a parser that knows 24:00 should know 24:01, as
  GTFS does.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
