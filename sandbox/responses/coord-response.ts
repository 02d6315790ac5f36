import { parseCoord } from '../journeys/endpoint.ts';
import { distanceMetres, type Position } from '../network/network.ts';
import type { NetworkIndex, PointNode, StopNode } from '../network/network-index.ts';
import { VERSION } from './common.ts';
import { coordOf, nameWithSuburb, pointNaming, suburbOf } from './location.ts';

/**
 * The response of `coord`: the locations within the radius of each numbered filter, in one list for all filters, closest first.
 */
export function coordResponse(index: NetworkIndex, query: URLSearchParams): object {
  const position = parseCoord(query.get('coord') ?? '');
  if (position === undefined || query.get('inclFilter') !== '1') return { version: VERSION };
  const hits = filtersOf(query)
    .flatMap((filter) => hitsOf(index, filter, position))
    .sort((a, b) => a.metres - b.metres);
  return hits.length === 0 ? { version: VERSION } : { version: VERSION, locations: hits.map((hit) => hit.location) };
}

function filtersOf(query: URLSearchParams) {
  return [...query].flatMap(([name, type]) => {
    const number = /^type_(\d+)$/.exec(name)?.[1];
    const radiusMetres = Number(query.get(`radius_${number}`) ?? Number.NaN);
    return number === undefined || !(radiusMetres > 0) ? [] : [{ type, radiusMetres }];
  });
}

function hitsOf(index: NetworkIndex, { type, radiusMetres }: ReturnType<typeof filtersOf>[number], position: Position) {
  const nearestFirst = <Node extends Position>(nodes: readonly Node[], shape: (node: Node, metres: number) => object) =>
    nodes
      .map((node) => ({ metres: distanceMetres(position, node), node }))
      .filter(({ metres }) => metres <= radiusMetres)
      .map(({ metres, node }) => ({ metres, location: shape(node, metres) }));
  if (type === 'BUS_POINT') return nearestFirst(index.points, platformLocation);
  return type === 'STOP' ? nearestFirst(index.stops, stopLocation) : [];
}

/** Platforms of every mode have the type BUS_POINT; their mode is missing. */
function platformLocation(node: PointNode, metres: number): object {
  const { home: stop } = node;
  const { long, platformName } = pointNaming(node);
  const name = `${long}, ${stop.locality}`;
  return {
    id: node.id,
    isGlobalId: true,
    name,
    disassembledName: name,
    type: 'platform',
    coord: coordOf(node),
    parent: {
      id: node.id,
      isGlobalId: true,
      name,
      disassembledName: long,
      type: 'stop',
      parent: suburbOf(stop),
    },
    properties: {
      distance: Math.round(metres),
      STOP_GLOBAL_ID: stop.id,
      STOPPOINT_GLOBAL_ID: node.id,
      STOP_NAME_WITH_PLACE: nameWithSuburb(stop),
      STOP_NAME: stop.name,
      STOP_AREA_NAME: areaName(node),
      STOP_POINT_LONGNAME: platformName,
      IDENTIFIER: node.code,
    },
  };
}

/** A STOP has its modes, but its `name` is literally "undefined, undefined"; the real name is in the properties. */
function stopLocation(stop: StopNode, metres: number): object {
  const { classes } = stop;
  const name = 'undefined, undefined';
  return {
    id: stop.id,
    isGlobalId: true,
    name,
    type: 'stop',
    coord: coordOf(stop),
    parent: { id: stop.id, name, type: 'locality' },
    productClasses: classes,
    properties: {
      distance: Math.round(metres),
      STOP_GLOBAL_ID: stop.id,
      STOP_NAME_WITH_PLACE: nameWithSuburb(stop),
      STOP_MAJOR_MEANS: String(MEANS[classes[0] ?? 5] ?? 3),
      STOP_MEANS_LIST: classes.map((productClass) => MEANS[productClass] ?? 3).join(','),
      STOP_MOT_LIST: classes.join(','),
      stopId: stop.stopId,
    },
    disassembledName: name,
  };
}

/** Upstream's second numbering of modes ("means"), by product class. */
const MEANS: Record<number, number> = { 1: 2, 2: 1, 4: 4, 5: 3, 7: 3, 9: 10, 11: 3 };

function areaName({ home, platformName, code, area }: PointNode): string {
  if (platformName === home.name) return 'Swa';
  const platform = /^Platform (\d+)$/.exec(platformName)?.[1];
  if (platform !== undefined) return `P${platform}`;
  return code.startsWith('LR') ? 'LR' : `BUS${area}`;
}
