import type { PortSelector } from '../devices/port-selector.ts';
import { UsageError } from './spec.ts';

export const PORT_ARGUMENT = {
  usage: '[device/port...]',
  description: 'devices, or single ports of them as mlx5_0/1; without one, all of them',
} as const;

/** Throws UsageError for what is no `DEVICE` and no `DEVICE/PORT`. */
export async function portSelectors(words: readonly string[]): Promise<PortSelector[]> {
  const { parsePortSelector } = await import('../devices/port-selector.ts');
  return words.map((word) => {
    const selector = parsePortSelector(word);
    if (selector === null)
      throw new UsageError(`'${word}' is no DEVICE and no DEVICE/PORT, such as mlx5_0/1`);
    return selector;
  });
}
