#!/bin/sh
# A run after midnight that belongs to the day before.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund minotor@1.0.7 fflate@0.8.2

cat > run.mjs <<'PROGRAM'
import { writeFileSync } from 'node:fs';
import { strToU8, zipSync } from 'fflate';
import { GtfsParser } from 'minotor/parser';
import { Query, Router, Time } from 'minotor';

const schedule = {
  agency: 'agency_id,agency_name,agency_url,agency_timezone\nA,A,https://example.net,Australia/Sydney\n',
  stops: 'stop_id,stop_name,stop_lat,stop_lon,location_type,parent_station\na,One,-33.87,151.2,,\nb,Two,-33.9,151.2,,\n',
  routes: 'route_id,agency_id,route_short_name,route_long_name,route_type\nN,A,N10,Night,3\n',
  calendar:
    'service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date\n' +
    'D,1,1,1,1,1,1,1,20260101,20261231\n',
  trips: 'route_id,service_id,trip_id\nN,D,night\nN,D,morning\n',
  stop_times:
    'trip_id,arrival_time,departure_time,stop_id,stop_sequence,pickup_type,drop_off_type\n' +
    'night,24:30:00,24:30:00,a,1,0,0\nnight,24:50:00,24:50:00,b,2,0,0\n' +
    'morning,09:00:00,09:00:00,a,1,0,0\nmorning,09:20:00,09:20:00,b,2,0,0\n',
};
const files = Object.entries(schedule).map(([name, text]) => [`${name}.txt`, strToU8(text)]);
writeFileSync('schedule.zip', zipSync(Object.fromEntries(files)));

const parser = new GtfsParser('schedule.zip', { routeTypeParser: () => 'BUS' });
const { timetable, stopsIndex } = await parser.parse(new Date('2026-06-10T12:00:00'));
const router = new Router(timetable, stopsIndex);
for (const [clock, minutes] of [['00:10', 10], ['08:00', 480], ['24:10', 1450]]) {
  const query = new Query.Builder().from('a').to('b').departureTime(Time.fromSeconds(minutes * 60)).build();
  console.log(`10 June, ${clock}: arrives`, router.route(query).arrivalAt('b')?.time.toString() ?? 'never');
}
PROGRAM
cat > expected <<'EXPECTED'
10 June, 00:10: arrives 09:20:00
10 June, 08:00: arrives 09:20:00
10 June, 24:10: arrives 24:50:00
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: minotor 1.0.7, source https://github.com/aubryio/minotor
Behaviour: A timetable is parsed for one service day. The bus at 24:30:00 of every day is found for 24:10. For 00:10 the first one is that of
  09:00:00, although the bus of the evening before leaves at 00:30.
Why a good guess is wrong: A date is given, so one expects every vehicle that moves on it. Those of its
  first hours belong to the day before: a rider at midnight is told to wait for the morning.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
