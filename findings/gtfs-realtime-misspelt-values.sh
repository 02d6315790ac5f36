#!/bin/sh
# A relationship that GTFS-realtime does not have.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund gtfs-realtime-bindings@2.2.0

cat > run.mjs <<'PROGRAM'
import bindings from 'gtfs-realtime-bindings';

const { FeedMessage } = bindings.transit_realtime;
const write = (tripUpdate) => {
  const entity = [{ id: '1', ...tripUpdate }];
  return FeedMessage.encode(FeedMessage.fromObject({ header: { gtfsRealtimeVersion: '2.0' }, entity })).finish();
};
const read = (bytes) => FeedMessage.decode(bytes).entity[0].tripUpdate;
const trip = (relationship) => ({ tripUpdate: { trip: { tripId: '1', scheduleRelationship: relationship } } });
for (const relationship of ['CANCELED', 'CANCELLED', 'canceled', 42]) {
  const { scheduleRelationship } = read(write(trip(relationship))).trip;
  console.log(`${relationship}: read as ${scheduleRelationship}`);
}
console.log('trip_update in place of tripUpdate:', read(write({ trip_update: { trip: { trip_id: '1' } } })));
const wrong = { header: { gtfsRealtimeVersion: '2.0' }, entity: [{ id: '1', ...trip('CANCELLED') }] };
console.log('verify:', FeedMessage.verify(wrong));
PROGRAM
cat > expected <<'EXPECTED'
CANCELED: read as 3
CANCELLED: read as 0
canceled: read as 0
42: read as 42
trip_update in place of tripUpdate: null
verify: entity.tripUpdate.trip.scheduleRelationship: enum value expected
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: gtfs-realtime-bindings 2.2.0, source https://github.com/MobilityData/gtfs-realtime-bindings
Behaviour: Writing drops a relationship with an unknown name without an error, so a cancelled trip is written as
  scheduled (0). An unknown number is written and read as it is. Names with underscores, as in the specification, are
  dropped too. Only `verify`, which nothing calls, refuses them.
Why a good guess is wrong: One expects an error for a name that the schema lacks, and for an unknown number the default
  or an unknown field, as the language of the schema (proto2) has closed enums. British spelling has two L.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
