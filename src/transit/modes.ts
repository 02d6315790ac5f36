/** Vehicle modes, in the order used in responses. */
export const MODES = ['train', 'metro', 'lightrail', 'bus', 'coach', 'ferry', 'schoolbus'] as const;
export type Mode = (typeof MODES)[number];
