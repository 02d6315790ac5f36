#!/bin/sh
# Times of a timetable in the nights when clocks change.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund gtfs-utils@5.1.0 luxon@3.7.2

cat > run.mjs <<'PROGRAM'
import resolveTime from 'gtfs-utils/lib/resolve-time.js';
import { DateTime } from 'luxon';

const zone = 'Australia/Sydney';
const written = (moment) => moment.setZone(zone).toFormat('d MMM HH:mm');
for (const date of ['2026-10-03', '2026-10-04', '2026-04-04', '2026-04-05']) {
  for (const [hours, minutes] of [[1, 30], [8, 0], [25, 30]]) {
    const right = DateTime.fromSeconds(resolveTime(zone, date, (hours * 60 + minutes) * 60));
    const midnight = DateTime.fromISO(date, { zone });
    const time = `${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}:00`;
    console.log(
      `${date} ${time} leaves ${written(right)}; midnight plus minutes ${written(midnight.plus({ minutes: hours * 60 + minutes }))}`,
    );
  }
}
PROGRAM
cat > expected <<'EXPECTED'
2026-10-03 01:30:00 leaves 3 Oct 01:30; midnight plus minutes 3 Oct 01:30
2026-10-03 08:00:00 leaves 3 Oct 08:00; midnight plus minutes 3 Oct 08:00
2026-10-03 25:30:00 leaves 4 Oct 01:30; midnight plus minutes 4 Oct 01:30
2026-10-04 01:30:00 leaves 4 Oct 00:30; midnight plus minutes 4 Oct 01:30
2026-10-04 08:00:00 leaves 4 Oct 08:00; midnight plus minutes 4 Oct 09:00
2026-10-04 25:30:00 leaves 5 Oct 01:30; midnight plus minutes 5 Oct 02:30
2026-04-04 01:30:00 leaves 4 Apr 01:30; midnight plus minutes 4 Apr 01:30
2026-04-04 08:00:00 leaves 4 Apr 08:00; midnight plus minutes 4 Apr 08:00
2026-04-04 25:30:00 leaves 5 Apr 01:30; midnight plus minutes 5 Apr 01:30
2026-04-05 01:30:00 leaves 5 Apr 02:30; midnight plus minutes 5 Apr 01:30
2026-04-05 08:00:00 leaves 5 Apr 08:00; midnight plus minutes 5 Apr 07:00
2026-04-05 25:30:00 leaves 6 Apr 01:30; midnight plus minutes 6 Apr 00:30
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: GTFS, as gtfs-utils 5.1.0 reads it, source https://github.com/public-transport/gtfs-utils, with luxon 3.7.2
Behaviour: Times count from noon minus twelve hours. On the day when clocks change, a run at 01:30:00 leaves at 00:30 or at 02:30 on
  the clock, and one that was meant for 01:30 must be written as 25:30:00 of the day before. Counted from midnight, every run of the whole
  day is an hour wrong instead.
Why a good guess is wrong: 01:30:00 reads as half past one, as on all other days, and 25:30:00 of the day before as the same
  moment. In these two nights they are an hour apart, and the file does not show it.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
