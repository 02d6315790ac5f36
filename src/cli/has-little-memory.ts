import { hasLittleMemory } from '../core/memory-limit.ts';

// For `scripts/start`: succeeds where memory is small.
process.exitCode = hasLittleMemory() ? 0 : 1;
