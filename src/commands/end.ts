/** Ends the process although a call hangs in C; what was to be printed has been printed. */
export async function endDespiteHangingCalls(status: number): Promise<never> {
  const { endProcess } = await import('../system/end-process.ts');
  return endProcess(status);
}
