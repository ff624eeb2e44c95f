/** Whether the other end of a pipe or socket is still there; for those who may not ask the C library themselves. */
export { isUnread } from '../native/unread.ts';
