/** The networks lines belong to: number, class and name as the authority uses them, unless said otherwise. */
import type { SandboxProduct } from '../network.ts';

export const SYDNEY_TRAINS: SandboxProduct = { id: 1, class: 1, name: 'Sydney Trains Network' };
export const INTERCITY_TRAINS: SandboxProduct = { id: 2, class: 1, name: 'Intercity Trains Network' };
export const SYDNEY_METRO: SandboxProduct = { id: 24, class: 2, name: 'Sydney Metro Network' };
export const SYDNEY_LIGHT_RAIL: SandboxProduct = { id: 13, class: 4, name: 'Sydney Light Rail Network' };
export const SYDNEY_BUSES: SandboxProduct = { id: 5, class: 5, name: 'Sydney Buses Network' };
export const SYDNEY_FERRIES: SandboxProduct = { id: 10, class: 9, name: 'Sydney Ferries Network' };
export const PRIVATE_FERRIES: SandboxProduct = { id: 12, class: 9, name: 'Private ferry and fast ferry services' };
export const REGIONAL_COACHES: SandboxProduct = { id: 7, class: 7, name: 'Regional Trains and Coaches Network' };
export const SCHOOL_BUSES: SandboxProduct = { id: 8, class: 11, name: 'School buses' };

/** Numbers are the authority's, the wording of the names is made up. */
export const NEWCASTLE_LIGHT_RAIL: SandboxProduct = { id: 21, class: 4, name: 'Newcastle Light Rail Network' };
export const NEWCASTLE_FERRIES: SandboxProduct = { id: 11, class: 9, name: 'Newcastle Ferries Network' };
export const HUNTER_BUSES: SandboxProduct = { id: 15, class: 5, name: 'Newcastle and Hunter Buses Network' };
export const SOUTH_EAST_BUSES: SandboxProduct = { id: 33, class: 5, name: 'South East and Tablelands Buses Network' };

/** Number and name made up: it is not known how the authority files the buses and the light rail of the ACT. */
export const CANBERRA_BUSES: SandboxProduct = { id: 91, class: 5, name: 'Transport Canberra Buses' };
export const CANBERRA_LIGHT_RAIL: SandboxProduct = { id: 92, class: 4, name: 'Canberra Light Rail' };
