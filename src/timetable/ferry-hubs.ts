/**
 * Upstream's ferry files group wharves under parents of their own ("Circular Quay Wharf 4"). The trip planner has one stop for
 * all wharves of a place and builds boards for that stop.
 */
const HUBS: readonly (readonly [hub: string, name: string, wharves: string])[] = [
  ['200020', 'Circular Quay', '2000212 2000215 2000216 2000217 2000223 2000225 2000227 2000229 2000234'],
  ['2000441', 'Barangaroo Wharf', '2000236 2000237 2000238 2000239'],
  ['2000260', 'Pyrmont Bay Wharf', '200910'],
  ['200956', 'Pirrama Park Wharf', '200954'],
  ['202727', 'Darling Point Wharf', '20271'],
  ['202823', 'Double Bay Wharf', '20281'],
  ['202972', 'Rose Bay Wharf', '20291 202973'],
  ['2030164', 'Watsons Bay Wharf', '20301'],
  ['203783', 'Blackwattle Bay Wharf', '203771'],
  ['204155', 'Balmain West Wharf', '20411'],
  ['204156', 'Birchgrove Wharf', '20412'],
  ['204157', 'Balmain Wharf', '20413'],
  ['20414', 'Balmain East Wharf', '204153 204154'],
  ['2046158', 'Abbotsford Wharf', '20461'],
  ['2046159', 'Chiswick Wharf', '20462'],
  ['204761', 'Drummoyne Wharf', '20471'],
  ['206099', 'North Sydney Wharf', '20603'],
  ['20601', 'McMahons Point Wharf', '206076 206080'],
  ['20611', 'Milsons Point Wharf', '206122 206126'],
  ['206132', 'Kirribilli Wharf', '20614'],
  ['206518', 'Greenwich Point Wharf', '20651'],
  ['208877', 'Mosman Bay Wharf', '20881'],
  ['208878', 'South Mosman Wharf', '20882'],
  ['208899', 'Taronga Zoo Wharf', '20883'],
  ['208943', 'Neutral Bay Wharf', '20891'],
  ['208946', 'Kurraba Point Wharf', '20892'],
  ['209037', 'Cremorne Point Wharf', '20901'],
  ['209038', 'Old Cremorne Wharf', '20902'],
  ['209573', 'Manly Wharf', '20951 209525'],
  ['211099', 'Woolwich Wharf', '21101'],
  ['20009', 'Cockatoo Island Wharf', '211033'],
  ['211131', 'Huntleys Point Wharf', '211158'],
  ['211217', 'Kissing Point Wharf', '21122'],
  ['211497', 'Meadowbank Wharf', '21141'],
  ['211655', 'Rydalmere Wharf', '21151'],
  ['21271', 'Sydney Olympic Park Wharf', '212751 212753'],
  ['21371', 'Cabarita Wharf', '2137185 2137186'],
  ['2150112', 'Parramatta Wharf', '21501'],
];

const HUB_OF_WHARF = new Map(
  HUBS.flatMap(([id, name, wharves]) => wharves.split(' ').map((wharf) => [wharf, { id, name }] as const)),
);

/** The trip planner's stop for a wharf in the ferry files, which lack it; null if unknown. */
export function findFerryHub(wharfId: string): { id: string; name: string } | null {
  return HUB_OF_WHARF.get(wharfId) ?? null;
}
