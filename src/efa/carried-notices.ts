import { kindOf } from './add-info.ts';
import type { DepartureMonitorPayload, TripPayload } from './payload.ts';
import { firstElements, type JsonObject, readIdentifier, readObject, readRawText } from './response/field.ts';
import { findRunId, readVehicleProperties } from './response/run.ts';

/** The unread record that carries a notice: a departure or a ride. */
interface Carrier {
  infos: unknown;
  line: JsonObject | undefined;
  runId: string | null;
  /** Calls of the run, as upstream's list of all notices has them. */
  calls: JsonObject[];
  /** The stop of the board; null of a ride. */
  stopId: string | undefined;
}

/** The most notices of one departure or ride. */
const MAX_NOTICES = 50;

/**
 * The notices that departures or rides of a response carry, in the form of the list of all notices: what each is about is
 * taken from its carrier. `key` is the same for the same notice about the same thing.
 */
export function* listCarriedNotices(payload: object): Generator<{ key: string; notice: JsonObject }> {
  for (const { infos, line, runId, calls, stopId } of listCarriers(payload)) {
    for (const info of firstElements(infos, MAX_NOTICES).map(readObject)) {
      if (!info) continue;
      const kind = kindOf(info.type);
      const [ownStopId] = readIdentifier(readObject(info.properties)?.stopIDglobalID)?.split(':') ?? [];
      const id = ownStopId || stopId;
      const isOfStop = (kind === 'stop' || kind === 'facility') && id !== undefined;
      const about = isOfStop
        ? { stops: [{ id, type: 'stop' }] }
        : { lines: [{ ...line, ...(kind === 'run' && runId && { trips: [{ realtimeTripId: runId, calls }] }) }] };
      const name = readIdentifier(info.id) ?? readRawText(info.subtitle) ?? readRawText(info.content);
      const subject = isOfStop ? id : kind === 'run' && runId ? runId : readIdentifier(line?.id);
      yield { key: `${name} ${readIdentifier(info.version)} ${subject}`, notice: { ...info, affected: about } };
    }
  }
}

function* listCarriers(payload: object): Generator<Carrier> {
  const { stopEvents = [], journeys = [] } = payload as Partial<DepartureMonitorPayload & TripPayload>;
  for (const event of stopEvents.map(readObject)) {
    if (!event?.infos) continue;
    const location = readObject(event.location);
    yield {
      infos: event.infos,
      ...readLine(event.transportation, event.properties),
      calls: [{ departureTimePlanned: event.departureTimePlanned, arrivalTimePlanned: event.arrivalTimePlanned }],
      stopId: readIdentifier(readObject(location?.parent)?.id) ?? readIdentifier(location?.id),
    };
  }
  for (const leg of journeys.flatMap((journey) => firstElements(readObject(journey)?.legs)).map(readObject)) {
    if (!leg?.infos) continue;
    yield {
      infos: leg.infos,
      ...readLine(leg.transportation, leg.properties),
      calls: [
        { departureTimePlanned: readObject(leg.origin)?.departureTimePlanned },
        { arrivalTimePlanned: readObject(leg.destination)?.arrivalTimePlanned },
      ],
      stopId: undefined,
    };
  }
}

function readLine(transportation: unknown, properties: unknown): Pick<Carrier, 'line' | 'runId'> {
  const line = readObject(transportation);
  if (!line) return { line, runId: null };
  const { id, disassembledName, number, product, iconId } = line;
  const runId = findRunId(readVehicleProperties(properties), readVehicleProperties(line.properties));
  return { line: { id, disassembledName, number, product, iconId }, runId };
}
