import { expect, it } from 'vitest';
import { splitStopName } from '#src/timetable/stop-names.ts';

it.each([
  ['Central Station Platform 16', 'Central Station', 'Central Station', 'Platform 16'],
  ['Central Station', null, 'Central Station', null],
  ['Tallawong Station, Platform 1', 'Tallawong Station', 'Tallawong Station', 'Platform 1'],
  ['International Station Platform 1', 'International Airport Station', 'International Airport Station', 'Platform 1'],
  ['International Station Platform 1', null, 'International Airport Station', 'Platform 1'],
  ['Circular Quay Station', null, 'Circular Quay', null],
  ['Circular Quay Station Platform 1', null, 'Circular Quay', 'Platform 1'],
  ['Circular Quay Wharf 4', null, 'Circular Quay', 'Wharf 4'],
  ['Circular Quay Wharf 6, Side A', 'Circular Quay', 'Circular Quay', 'Wharf 6, Side A'],
  ['Barangaroo Wharf 1', null, 'Barangaroo Wharf', 'Wharf 1'],
  ['Pyrmont Bay Wharf, Side A', null, 'Pyrmont Bay Wharf', 'Side A'],
  ['Wynyard Station, Stand C', null, 'Wynyard Station', 'Stand C'],
  ['Wynyard Station, Clarence St, Stand Q', null, 'Wynyard Station, Clarence St', 'Stand Q'],
  ['Lake Rd after Main Rd', null, 'Lake Rd after Main Rd', null],
  ['Stand C', null, 'Stand C', null],
  ['Central Chalmers Street Light Rail', 'Central Station', 'Central Station', 'Central Chalmers Street Light Rail'],
  ['Town Hall Light Rail LR2', 'Town Hall Station', 'Town Hall Station', 'Town Hall Light Rail'],
  ['QVB Light Rail', 'QVB Light Rail', 'QVB Light Rail', null],
  ['Capitol Square Light Rail', null, 'Capitol Square Light Rail', null],
])('the stop %s at %s is named %s, %s', (name, parentName, expectedName, platform) => {
  expect(splitStopName({ id: '1', name, platformCode: null }, parentName)).toEqual({ name: expectedName, platform });
});

it('a wharf has the name of the stop that the trip planner has for it', () => {
  const wharf = { id: '20951', name: 'Manly Wharf 1', platformCode: null };
  expect(splitStopName(wharf, 'Manly Wharf')).toEqual({ name: 'Manly Wharf', platform: 'Wharf 1' });
  const quay = { id: '2000223', name: 'Circular Quay, Wharf 4, Side A', platformCode: null };
  expect(splitStopName(quay, 'Circular Quay')).toEqual({ name: 'Circular Quay', platform: 'Wharf 4, Side A' });
});

it('a platform without a number in its name takes it from its code', () => {
  const platform = { id: '1', name: 'Chatswood Metro', platformCode: '2' };
  expect(splitStopName(platform, 'Chatswood Station')).toEqual({ name: 'Chatswood Station', platform: 'Platform 2' });
  expect(splitStopName(platform, null)).toEqual({ name: 'Chatswood Metro', platform: 'Platform 2' });
  expect(splitStopName(platform, 'Chatswood Metro')).toEqual({ name: 'Chatswood Metro', platform: 'Platform 2' });
  const inStreet = { id: '1', name: 'Central Chalmers Street Light Rail', platformCode: '3' };
  const platformThere = 'Central Chalmers Street Light Rail';
  expect(splitStopName(inStreet, 'Central Station')).toEqual({ name: 'Central Station', platform: platformThere });
});
