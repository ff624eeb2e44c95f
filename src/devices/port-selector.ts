/** What `DEVICE[/PORT]` on the command line selects. */
export interface PortSelector {
  readonly device: string;
  /** null: the whole device. */
  readonly port: number | null;
}

/** `mlx5_0/1` as a selector; null for what is none. The kernel's names have no slash, and its ports 8 bits or more. */
export function parsePortSelector(text: string): PortSelector | null {
  const [, device, port] = /^([^/]+)(?:\/([0-9]{1,5}))?$/.exec(text) ?? [];
  if (device === undefined) return null;
  if (port === undefined) return { device, port: null };
  return Number(port) === 0 ? null : { device, port: Number(port) };
}

/** Whether the port of the device is selected; everything is where there is no selector. */
export const isSelected = (
  selectors: readonly PortSelector[],
  device: string,
  port: number | null,
): boolean =>
  selectors.length === 0 ||
  selectors.some((one) => one.device === device && (one.port === null || one.port === port));
