/** How a lab that can stay up is. */
export type LabStatus = { readonly name: string } & (
  | { readonly state: 'down' | 'starting' }
  | { readonly state: 'up'; readonly machine: LabMachine | null; readonly process: LabProcess | null }
  /** It was up, and has ended without being asked to. */
  | { readonly state: 'died'; readonly machine: LabMachine | null; readonly death: LabDeath }
);

/** Of a lab that is a machine of its own. */
export interface LabMachine {
  /** The release of its kernel. */
  readonly kernel: string;
  readonly acceleration: 'kvm' | 'emulation';
  /** Since when it is, or was, up: RFC 3339. */
  readonly since: string;
}

export interface LabProcess {
  /** Of the process that keeps it. */
  readonly pid: number;
  /** Memory of this machine that it uses at present. */
  readonly memoryBytes: number;
}

export interface LabDeath {
  readonly reason: string;
  /** The last lines of its console. */
  readonly console: readonly string[];
}
