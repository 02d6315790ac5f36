/**
 * What a name search finds beside stops. Names, suburbs and coordinates are well known and true to some hundred metres;
 * identifiers are made up in the authority's forms. Many share words with stops, so that a search has to tell them apart.
 */
import type { SandboxPlace } from '../network.ts';

type Row = readonly [name: string, locality: string, postcode: number, lat: number, lng: number];

const STREETS: readonly Row[] = [
  ['Epping Rd', 'Lane Cove', 2066, -33.811362, 151.166651],
  ['Epping Rd', 'Macquarie Park', 2113, -33.78788, 151.127376],
  ['Epping Rd', 'North Ryde', 2113, -33.791681, 151.130893],
  ['Epping Rd', 'Marsfield', 2122, -33.773231, 151.104111],
  ['Epping Rd', 'Double Bay', 2028, -33.881389, 151.245664],
  ['Epping Av', 'Eastwood', 2122, -33.784391, 151.075736],
  ['Epping Dr', 'Frenchs Forest', 2086, -33.745947, 151.232527],
  ['Epping Forest Dr', 'Kearns', 2558, -34.02211, 150.803369],
  ['Eppalock St', 'Duffy (ACT)', 2611, -35.331945, 149.033635],
  ['Central Av', 'Manly', 2095, -33.7984, 151.2855],
  ['Central Rd', 'Avalon', 2107, -33.6337, 151.3265],
  ['Central Coast Hwy', 'Gosford', 2250, -33.4287, 151.345],
  ['Station St', 'Central Tilba', 2546, -36.312509, 150.074323],
  ['Station St', 'Newtown', 2042, -33.8995, 151.1773],
  ['Circular Quay East', 'Sydney', 2000, -33.8597, 151.2132],
  ['Circular Quay West', 'The Rocks', 2000, -33.8583, 151.2096],
  ['George St', 'Sydney', 2000, -33.8688, 151.2071],
  ['George St', 'Haymarket', 2000, -33.8797, 151.2049],
  ['Elizabeth St', 'Surry Hills', 2010, -33.8862, 151.2083],
  ['Crown St', 'Surry Hills', 2010, -33.8859, 151.2139],
  ['Crown St', 'Wollongong', 2500, -34.4249, 150.8931],
  ['Redfern St', 'Redfern', 2016, -33.8928, 151.204],
  ['Harris St', 'Ultimo', 2007, -33.8796, 151.1996],
  ['Oxford St', 'Darlinghurst', 2010, -33.8788, 151.2146],
  ['Oxford St', 'Bondi Junction', 2022, -33.8918, 151.2477],
  ['Campbell Pde', 'Bondi Beach', 2026, -33.8906, 151.2744],
  ['Manly Rd', 'Seaforth', 2092, -33.7953, 151.2441],
  ['Wynyard St', 'Sydney', 2000, -33.8662, 151.2066],
  ['Parramatta Rd', 'Ashfield', 2131, -33.8806, 151.1261],
  ['Blacktown Rd', 'Blacktown', 2148, -33.7755, 150.9206],
  ['Seven Hills Rd', 'Seven Hills', 2147, -33.7655, 150.9413],
  ['Newcastle Rd', 'Lambton', 2299, -32.9119, 151.7126],
  ['Hunter St', 'Newcastle', 2300, -32.9275, 151.7757],
  ['Northbourne Av', 'Braddon (ACT)', 2612, -35.2711, 149.1312],
  ['Lonsdale St', 'Braddon (ACT)', 2612, -35.2731, 149.133],
  ['Belconnen Way', 'Belconnen (ACT)', 2617, -35.2469, 149.0628],
];

const POIS: readonly Row[] = [
  ['Central Park', 'Chippendale', 2008, -33.8849, 151.2001],
  ['Central Station Hotel', 'Sydney', 2000, -33.879308, 151.209493],
  ['Prince Alfred Park', 'Surry Hills', 2010, -33.8884, 151.205],
  ['Belmore Park', 'Haymarket', 2000, -33.8812, 151.2075],
  ['Circular Quay Oyster Bar', 'Sydney', 2000, -33.8589, 151.2134],
  ['Circular Quay Police Station', 'Sydney', 2000, -33.8614, 151.2102],
  ['Sydney Opera House', 'Sydney', 2000, -33.8568, 151.2153],
  ['Sydney Town Hall', 'Sydney', 2000, -33.8733, 151.2062],
  ['Town Hall Steps Coffee', 'Sydney', 2000, -33.8735, 151.2067],
  ['Newtown Town Hall', 'Newtown', 2042, -33.8979, 151.1787],
  ['Hyde Park', 'Sydney', 2000, -33.8732, 151.2113],
  ['Wynyard Park', 'Sydney', 2000, -33.8655, 151.2057],
  ['Queen Victoria Building', 'Sydney', 2000, -33.8717, 151.2067],
  ['Museum of Contemporary Art', 'The Rocks', 2000, -33.8599, 151.209],
  ['Australian Museum', 'Darlinghurst', 2010, -33.8743, 151.2131],
  ['Powerhouse Museum', 'Ultimo', 2007, -33.8785, 151.1995],
  ["Paddy's Markets", 'Haymarket', 2000, -33.8797, 151.2036],
  ['Redfern Park', 'Redfern', 2016, -33.8949, 151.2061],
  ['Manly Wharf Hotel', 'Manly', 2095, -33.8001, 151.2844],
  ['Manly Beach', 'Manly', 2095, -33.7971, 151.2885],
  ['Taronga Zoo', 'Mosman', 2088, -33.8434, 151.2412],
  ['Bondi Beach', 'Bondi Beach', 2026, -33.8915, 151.2767],
  ['Westfield Bondi Junction', 'Bondi Junction', 2022, -33.8916, 151.25],
  ['Epping Library', 'Epping', 2121, -33.773186, 151.084041],
  ['Epping Boys High School', 'Marsfield', 2122, -33.769512, 151.099974],
  ['Epping Oval', 'North Epping', 2121, -33.763561, 151.088438],
  ['The Epping Hotel', 'Epping', 2121, -33.772628, 151.081576],
  ['Parramatta Park', 'Parramatta', 2150, -33.8113, 150.9958],
  ['Macquarie University', 'Macquarie Park', 2109, -33.7738, 151.1126],
  ['Sydney Airport Domestic Terminal', 'Mascot', 2020, -33.9334, 151.1809],
  ['Sydney Airport International Terminal', 'Mascot', 2020, -33.9357, 151.1663],
  ['Newcastle Beach', 'Newcastle', 2300, -32.9298, 151.7869],
  ['John Hunter Hospital', 'New Lambton Heights', 2305, -32.9219, 151.6928],
  ['Canberra Hospital', 'Garran (ACT)', 2605, -35.3457, 149.1009],
  ['Australian War Memorial', 'Campbell (ACT)', 2612, -35.2806, 149.1485],
  ['Canberra Centre', 'Canberra City (ACT)', 2601, -35.2793, 149.1341],
  ['Parliament House', 'Capital Hill (ACT)', 2600, -35.3082, 149.1244],
  ['Merimbula Wharf', 'Merimbula', 2548, -36.8972, 149.9241],
];

/** Suburbs, with the number the authority gives them where it is known. */
const SUBURBS: readonly (readonly [name: string, place: number, lat: number, lng: number])[] = [
  ['Epping', 95325016, -33.771296, 151.082905],
  ['North Epping', 95325027, -33.758899, 151.093459],
  ['Sydney', 95301001, -33.8688, 151.2093],
  ['Surry Hills', 95301027, -33.8849, 151.2124],
  ['Redfern', 95399001, -33.8927, 151.2043],
  ['Haymarket', 95399002, -33.8805, 151.2049],
  ['Manly', 95399003, -33.7971, 151.2858],
  ['Chatswood', 95362004, -33.7969, 151.1832],
  ['Strathfield', 95356003, -33.8797, 151.0841],
  ['Parramatta', 95399004, -33.815, 151.0011],
  ['Bondi Junction', 95361003, -33.8934, 151.2477],
  ['Seven Hills', 95308035, -33.7749, 150.9344],
  ['Newcastle', 95399005, -32.9283, 151.7817],
  ['Braddon (ACT)', 95799001, -35.2722, 149.1352],
  ['Belconnen (ACT)', 95799002, -35.2386, 149.0658],
  ['Merimbula', 95399006, -36.8916, 149.9095],
];

/** Villages and towns which are filed as localities. */
const LOCALITIES: readonly (readonly [name: string, place: number, lat: number, lng: number])[] = [
  ['Central Mangrove', 95320009, -33.3, 151.234],
  ['Central Tilba', 95384014, -36.3125, 150.0743],
  ['Central Macdonald', 95323006, -33.3296, 150.9659],
];

export const PLACES: readonly SandboxPlace[] = [
  ...STREETS.map(([name, locality, postcode, lat, lng], index) => ({
    id: `streetID:15000009${pad(index)}::953998${pad(index)}:-1:${name}:${locality}:${name}::${name}: ${postcode}:ANY:DIVA_STREET:${grid(lat, lng)}:GDAV:nsw`,
    name,
    locality,
    type: 'street' as const,
    lat,
    lng,
  })),
  ...POIS.map(([name, locality, , lat, lng], index) => ({
    id: `poiID:8589000${pad(index)}:953997${pad(index)}:-1:${name}:${locality}:${name}:ANY:POI:${grid(lat, lng)}:GDAV:nsw`,
    name,
    locality,
    type: 'poi' as const,
    lat,
    lng,
  })),
  ...SUBURBS.map(([name, place, lat, lng]) => ({
    id: `suburbID:${place}:1:${name}:${grid(lat, lng)}:GDAV`,
    name,
    locality: name,
    type: 'suburb' as const,
    lat,
    lng,
  })),
  ...LOCALITIES.map(([name, place, lat, lng]) => ({
    id: `placeID:${place}:1`,
    name,
    locality: name,
    type: 'locality' as const,
    lat,
    lng,
  })),
];

function pad(index: number): string {
  return `${index + 1}`.padStart(2, '0');
}

/** Something like the two numbers of a grid the authority puts into its identifiers. */
function grid(lat: number, lng: number): string {
  return `${Math.round(4_885_760 + (lng - 151.166651) * 90_190)}:${Math.round(3_749_054 - (lat + 33.811362) * 117_780)}`;
}
