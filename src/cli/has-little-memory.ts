import { hasLittleMemory } from '../core/memory-limit.ts';

// For `scripts/start`: exits with 0 if memory is small.
process.exitCode = hasLittleMemory() ? 0 : 1;
