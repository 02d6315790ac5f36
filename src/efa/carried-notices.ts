import { kindOf, readNamedStops } from './add-info.ts';
import type { DepartureMonitorPayload, TripPayload } from './payload.ts';
import { firstElements, type JsonObject, readIdentifier, readObject, readRawText } from './response/field.ts';
import { findRunId, readVehicleProperties } from './response/run.ts';

/** The unparsed record that carries a notice: a departure or ride. */
interface Carrier {
  record: JsonObject;
  /** The run's calls, in the form of upstream's list of all notices. */
  listCalls: () => JsonObject[];
  /** The stop of the board; undefined for a ride. */
  stopId: string | undefined;
}

/** Maximum number of notices read per departure or ride. */
const MAX_NOTICES = 50;

/**
 * The notices attached to departures or rides of a response. `toNotice` converts one to the form of the list of all notices,
 * with its subject taken from the carrier. The same notice about the same subject has the same `key`.
 */
export function* listCarriedNotices(payload: object): Generator<{ key: string; toNotice: () => JsonObject }> {
  for (const { record, listCalls, stopId: boardStopId } of listCarriers(payload)) {
    const line = readObject(record.transportation);
    for (const info of firstElements(record.infos, MAX_NOTICES).map(readObject)) {
      if (!info) continue;
      const kind = kindOf(info);
      const [ownStop] = readNamedStops(info);
      const stopId = kind === 'stop' || kind === 'facility' ? (ownStop?.id ?? boardStopId) : undefined;
      const runId =
        kind === 'run' && line
          ? findRunId(readVehicleProperties(record.properties), readVehicleProperties(line.properties))
          : null;
      const name = readIdentifier(info.id) ?? readRawText(info.subtitle) ?? readRawText(info.content);
      const subject = stopId ?? runId ?? readIdentifier(line?.id);
      yield {
        key: `${name} ${readIdentifier(info.version)} ${subject}`,
        toNotice() {
          if (stopId !== undefined) return { ...info, affected: { stops: [{ id: stopId, type: 'stop' }] } };
          const trips = runId !== null && { trips: [{ realtimeTripId: runId, calls: listCalls() }] };
          return { ...info, affected: { lines: [{ ...pickLine(line), ...trips }] } };
        },
      };
    }
  }
}

function* listCarriers(payload: object): Generator<Carrier> {
  const { stopEvents = [], journeys = [] } = payload as Partial<DepartureMonitorPayload & TripPayload>;
  for (const event of stopEvents.map(readObject)) {
    if (!event?.infos) continue;
    const location = readObject(event.location);
    yield {
      record: event,
      listCalls: () => [
        { departureTimePlanned: event.departureTimePlanned, arrivalTimePlanned: event.arrivalTimePlanned },
      ],
      stopId: readIdentifier(readObject(location?.parent)?.id) ?? readIdentifier(location?.id),
    };
  }
  for (const leg of journeys.flatMap((journey) => firstElements(readObject(journey)?.legs)).map(readObject)) {
    if (!leg?.infos) continue;
    yield {
      record: leg,
      listCalls: () => [
        { departureTimePlanned: readObject(leg.origin)?.departureTimePlanned },
        { arrivalTimePlanned: readObject(leg.destination)?.arrivalTimePlanned },
      ],
      stopId: undefined,
    };
  }
}

function pickLine(line: JsonObject | undefined): JsonObject {
  const { id, disassembledName, number, product, iconId } = line ?? {};
  return line ? { id, disassembledName, number, product, iconId } : {};
}
