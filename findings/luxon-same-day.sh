#!/bin/sh
# Whether one instant is on the same day as itself.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund luxon@3.7.2

cat > run.mjs <<'PROGRAM'
import { DateTime } from 'luxon';

const sydney = DateTime.fromISO('2026-01-02T00:30', { zone: 'Australia/Sydney' });
const utc = sydney.toUTC();
console.log('one instant:', sydney.toISO(), utc.toISO());
console.log('difference in ms:', sydney.diff(utc).toMillis());
console.log('same day:', sydney.hasSame(utc, 'day'));
console.log('same day, both in Sydney:', sydney.hasSame(utc.setZone('Australia/Sydney'), 'day'));
const later = DateTime.fromISO('2026-01-02T13:30Z', { zone: 'utc' });
console.log('24 hours later, in UTC, same day:', sydney.hasSame(later, 'day'), later.diff(sydney, 'hours').hours);
PROGRAM
cat > expected <<'EXPECTED'
one instant: 2026-01-02T00:30:00.000+11:00 2026-01-01T13:30:00.000Z
difference in ms: 0
same day: false
same day, both in Sydney: true
24 hours later, in UTC, same day: true 24
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: `hasSame` of luxon 3.7.2, source https://github.com/moment/luxon
Behaviour: `hasSame` compares what the two local clocks show. One instant in two zones can be on different days, and
  two instants 24 hours apart on the same day.
Why a good guess is wrong: Other comparisons (`diff`, `<`, `toMillis`) use the instant, so one expects both to be
  converted to one zone first.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
