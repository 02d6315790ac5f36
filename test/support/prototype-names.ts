/** Names that every plain object has without having been given them. Data and callers may use any of them. */
export const PROTOTYPE_NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'] as const;
