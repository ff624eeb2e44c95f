import { endianness } from 'node:os';
import { UnsupportedPlatformError } from './errors.ts';

/** The declared structures hold for 64-bit little-endian Linux; anything else is refused, not guessed. */
export function refuseUnknownPlatform(
  platform: string = process.platform,
  arch: string = process.arch,
  order: string = endianness(),
): void {
  if (platform === 'linux' && (arch === 'x64' || arch === 'arm64') && order === 'LE') return;
  throw new UnsupportedPlatformError(
    `rdmatool knows the C structures of Linux on x86-64 and arm64; this is ${platform} on ${arch} (${order})`,
  );
}
