import type { UnreadCheck } from '../output/streams.ts';

/** Tells whether nobody reads stdout any more; null where the C library cannot be asked. */
export async function loadUnreadCheck(): Promise<UnreadCheck | null> {
  try {
    const { isUnread } = await import('../system/unread.ts');
    return isUnread;
  } catch {
    // Commands that need no koffi run without it.
    return null;
  }
}
