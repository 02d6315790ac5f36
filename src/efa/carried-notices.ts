import { kindOf, parseNamedStops } from './add-info.ts';
import type { DepartureMonitorPayload, TripPayload } from './payload.ts';
import { firstElements, type JsonObject, parseIdentifier, parseObject, parseRawText } from './response/field.ts';
import { parseVehicleProperties, toRunId } from './response/run.ts';

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
    const line = parseObject(record.transportation);
    for (const info of firstElements(record.infos, MAX_NOTICES).map(parseObject)) {
      if (!info) continue;
      const kind = kindOf(info);
      const [ownStop] = parseNamedStops(info);
      const stopId = kind === 'stop' || kind === 'facility' ? (ownStop?.id ?? boardStopId) : undefined;
      const runId =
        kind === 'run' && line
          ? toRunId(parseVehicleProperties(record.properties), parseVehicleProperties(line.properties))
          : null;
      const name = parseIdentifier(info.id) ?? parseRawText(info.subtitle) ?? parseRawText(info.content);
      const subject = stopId ?? runId ?? parseIdentifier(line?.id);
      yield {
        key: `${name} ${parseIdentifier(info.version)} ${subject}`,
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
  for (const event of stopEvents.map(parseObject)) {
    if (!event?.infos) continue;
    const location = parseObject(event.location);
    yield {
      record: event,
      listCalls: () => [
        { departureTimePlanned: event.departureTimePlanned, arrivalTimePlanned: event.arrivalTimePlanned },
      ],
      stopId: parseIdentifier(parseObject(location?.parent)?.id) ?? parseIdentifier(location?.id),
    };
  }
  for (const leg of journeys.flatMap((journey) => firstElements(parseObject(journey)?.legs)).map(parseObject)) {
    if (!leg?.infos) continue;
    yield {
      record: leg,
      listCalls: () => [
        { departureTimePlanned: parseObject(leg.origin)?.departureTimePlanned },
        { arrivalTimePlanned: parseObject(leg.destination)?.arrivalTimePlanned },
      ],
      stopId: undefined,
    };
  }
}

function pickLine(line: JsonObject | undefined): JsonObject {
  const { id, disassembledName, number, product, iconId } = line ?? {};
  return line ? { id, disassembledName, number, product, iconId } : {};
}
