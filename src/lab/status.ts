/** How a lab that can stay up is. */
export interface LabStatus {
  readonly name: string;
  /** `died`: it was up, and has ended without being asked to. */
  readonly state: 'up' | 'starting' | 'down' | 'died';
  /** The release of its kernel. */
  readonly kernel: string | null;
  readonly acceleration: 'kvm' | 'emulation' | null;
  /** RFC 3339. */
  readonly since: string | null;
  /** Of the process that keeps it. */
  readonly pid: number | null;
  /** Memory of this machine that it uses at present. */
  readonly memoryBytes: number | null;
  /** Why it has ended, and the last lines of its console. */
  readonly death: { readonly reason: string; readonly console: readonly string[] } | null;
}
