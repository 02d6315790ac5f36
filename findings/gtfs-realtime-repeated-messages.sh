#!/bin/sh
# A message that appears twice in a field for one message.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund gtfs-realtime-bindings@2.2.0 pbf@5.1.2

cat > run.mjs <<'PROGRAM'
import GtfsRealtime from 'gtfs-realtime-bindings';
import { PbfWriter } from 'pbf';

const writer = new PbfWriter();
const trip = (id, pbf) => pbf.writeStringField(1, id);
const stopTime = (stop, pbf) => pbf.writeStringField(4, stop);
const update = ({ tripId, stop }, pbf) => {
  if (tripId) pbf.writeMessage(1, trip, tripId);
  pbf.writeMessage(2, stopTime, stop);
};
writer.writeMessage(1, (_, pbf) => pbf.writeStringField(1, '2.0'));
writer.writeMessage(2, (_, pbf) => {
  pbf.writeStringField(1, 'first id');
  pbf.writeStringField(1, 'second id');
  pbf.writeMessage(3, update, { tripId: 'T', stop: 'A' });
  pbf.writeMessage(3, update, { stop: 'B' });
});
const { entity } = GtfsRealtime.transit_realtime.FeedMessage.decode(writer.finish());
console.log('id:', entity[0].id);
console.log('trip:', entity[0].tripUpdate.trip?.tripId ?? 'none');
console.log('stops:', entity[0].tripUpdate.stopTimeUpdate.map(({ stopId }) => stopId).join(' '));
PROGRAM
cat > expected <<'EXPECTED'
id: second id
trip: T
stops: A B
EXPECTED

node run.mjs > output
cat <<'ABOUT'
What: gtfs-realtime-bindings 2.2.0 (pbf 5.1.2 writes the input), source
  https://github.com/MobilityData/gtfs-realtime-bindings
Behaviour: If the field trip_update of one entity appears twice in the bytes, decoding merges both: fields of the
  first that the second lacks remain, and lists are joined.
Why a good guess is wrong: The last value of a number or text wins, so one expects the same of a message, as a reader
  that assigns each decoded message does.
Output:
ABOUT
cat output
if ! diff expected output; then
  echo 'CHANGED: the output differs from the expected one (<).'
  exit 1
fi
echo 'As expected.'
