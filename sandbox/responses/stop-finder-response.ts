import type { SandboxPlace } from '../network/network.ts';
import type { NetworkIndex, PointNode, StopNode } from '../network/network-index.ts';
import { seedOf, trait } from '../trait.ts';
import { listOfPlaces, nameList, noMatches, refusal, VERSION } from './common.ts';
import { coordOf, nameWithSuburb, pointNaming, suburbOf, uniqueStop } from './location.ts';

/** Upstream's name for a stop's list of product classes: `modes` with `TfNSWSF=true`. */
type ClassesField = 'modes' | 'productClasses';

/**
 * The response of `stop_finder`: the one stop with an identifier, or all places that match a text, in no useful order.
 * Decommissioned stops are not found.
 */
export function stopFinderResponse(index: NetworkIndex, query: URLSearchParams): object {
  const name = (query.get('name_sf') ?? '').trim();
  const classes = query.get('TfNSWSF') === 'true' ? 'modes' : 'productClasses';
  const stopsInUse = index.stops.filter((stop) => !stop.isDecommissioned);
  const home = index.stopById.get(name);
  if (home !== undefined && !home.isDecommissioned) {
    return { version: VERSION, locations: [{ ...uniqueStop(home, classes), [classes]: home.classes }] };
  }
  const point = index.pointById.get(name);
  if (point !== undefined && !point.home.isDecommissioned) {
    return { version: VERSION, locations: [platformResult(point, classes)] };
  }
  if (query.get('type_sf') === 'stop') return nameListResponse(stopsInUse, name);

  const stops = matching(name, stopsInUse);
  const [best] = stops.toSorted((a, b) => b.quality - a.quality);
  const locations = [
    ...stops.map((stop) => stopResult(stop.found, 934 + Math.round(66 * stop.quality), stop === best, classes)),
    ...matching(name, index.network.places).map(({ found, quality }) =>
      placeResult(found, 225 + Math.round(25 * quality)),
    ),
  ];
  if (locations.length === 0) return refusal(noMatches('stop'));
  locations.sort((a, b) => seedOf(a.id) - seedOf(b.id));
  return { ...refusal(listOfPlaces), locations };
}

/** Returns the stops or places that match the text, with their scores. */
function matching<Named extends { name: string; locality: string }>(text: string, all: readonly Named[]) {
  return all
    .map((found) => ({ found, quality: qualityOf(text, found.name, found.locality) }))
    .filter(({ quality }) => quality > 0);
}

/**
 * Scores how well a text matches a name, from 0 (not at all) to 1 (exactly). Each word of the text must begin a word of the
 * name or the suburb, and at least one must begin a word of the name.
 */
function qualityOf(text: string, name: string, locality: string): number {
  const requested = wordsOf(text);
  const nameWords = wordsOf(name);
  const placeWords = [...nameWords, ...wordsOf(locality)];
  const isMatch =
    requested.length > 0 &&
    requested.every((word) => placeWords.some((candidate) => candidate.startsWith(word))) &&
    requested.some((word) => nameWords.some((candidate) => candidate.startsWith(word)));
  if (!isMatch) return 0;
  const requestedLength = requested.join('').length;
  const lengthNamed = nameWords.join('').length;
  const isStart = nameWords[0]?.startsWith(requested[0] ?? '') ? 0.3 : 0;
  return 0.5 + isStart + 0.2 * Math.min(1, requestedLength / lengthNamed);
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function stopResult(stop: StopNode, matchQuality: number, isBest: boolean, field: ClassesField) {
  return {
    id: stop.id,
    isGlobalId: true,
    name: nameWithSuburb(stop),
    disassembledName: stop.name,
    coord: coordOf(stop),
    type: 'stop',
    matchQuality,
    isBest,
    parent: suburbOf(stop),
    properties: { stopId: stop.stopId, mainLocality: stop.locality },
    [field]: stop.classes,
  };
}

function placeResult(place: SandboxPlace, matchQuality: number) {
  const isArea = place.type === 'suburb' || place.type === 'locality';
  return {
    id: place.id,
    name: isArea || place.name === place.locality ? place.name : nameWithSuburb(place),
    ...(!isArea && { disassembledName: place.name }),
    coord: coordOf(place),
    ...(place.type === 'street' && { streetName: place.name, postCode: ` ${2000 + (seedOf(place.locality) >>> 23)}` }),
    type: place.type,
    matchQuality,
    isBest: false,
    parent: suburbOf(place),
  };
}

function platformResult(node: PointNode, field: ClassesField): object {
  const { home, id } = node;
  const { long } = pointNaming(node);
  return {
    ...uniqueStop(home, field),
    id,
    name: `${long}, ${home.locality}`,
    disassembledName: long,
    coord: coordOf(node),
    type: 'platform',
    [field]: home.classes,
  };
}

/** With `type_sf=stop` the response is a list of names: internal identifiers, no coordinates, no best match. */
function nameListResponse(stops: readonly StopNode[], name: string): object {
  const locations = matching(name, stops).map(({ found: stop }) => ({
    id: stop.stopId,
    name: nameWithSuburb(stop),
    disassembledName: stop.name,
    type: 'stop',
    matchQuality: 950_006 + 1000 * Math.floor(30 * trait(seedOf(stop.id), 1)),
    isBest: false,
    productClasses: stop.classes,
    parent: suburbOf(stop),
    assignedStops: [{ id: stop.stopId, type: 'stop', productClasses: stop.classes, connectingMode: 100 }],
  }));
  if (locations.length === 0) return refusal(noMatches('stop'));
  return { ...refusal(nameList), locations };
}
