import { LinkSpeed, LinkWidth } from './verbs-codes.ts';

/** Data rate of one lane in Gb/s, rounded as the kernel's sysfs and InfiniBand's names round it. */
const LANE_GBPS: Readonly<Record<(typeof LinkSpeed.entries)[number][0], number>> = {
  SDR: 2.5,
  DDR: 5,
  QDR: 10,
  FDR10: 10,
  FDR: 14,
  EDR: 25,
  HDR: 50,
  NDR: 100,
  XDR: 200,
};

/** Rate of a link in Gb/s, or null where a code is not known. */
export function linkRateGbps(width: number, speed: number): number | null {
  const lanes = Number.parseInt(LinkWidth.nameOf(width) ?? '', 10);
  const name = LinkSpeed.nameOf(speed);
  return Number.isNaN(lanes) || name === null ? null : lanes * LANE_GBPS[name];
}

/** Why there is no rate: `speed code 512 is not known`. */
export function unknownRate(width: number, speed: number): string {
  const codes = [
    ...(LinkWidth.nameOf(width) === null ? [`width code ${width}`] : []),
    ...(LinkSpeed.nameOf(speed) === null ? [`speed code ${speed}`] : []),
  ];
  return `${codes.join(' and ')} ${codes.length === 1 ? 'is' : 'are'} not known`;
}
