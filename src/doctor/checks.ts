/** All checks, from the bottom up: the order in which they are made and shown. */
import { connectCheck, neighbourCheck, routeCheck, routeDeviceCheck } from './address.ts';
import type { Check } from './check.ts';
import { efaCapabilitiesCheck, efaDeviceCheck, efaDriverCheck, efaNetworkCheck } from './efa.ts';
import { cardCheck, containerCheck, deviceCheck, namespaceCheck, sysfsCheck } from './hardware.ts';
import { libefaCheck, libibumadCheck, libibverbsCheck, librdmacmCheck } from './libraries.ts';
import { hugepagesCheck, memlockCheck } from './limits.ts';
import { ibCoreCheck, ibUmadCheck, ibUverbsCheck, rdmaUcmCheck } from './modules.ts';
import { rdmaCmNodeCheck, umadNodeCheck, uverbsNodeCheck } from './nodes.ts';
import { openCheck } from './opening.ts';
import { gidCheck, mtuCheck, portCheck } from './ports.ts';

export const CHECKS: readonly Check[] = [
  sysfsCheck,
  containerCheck,
  cardCheck,
  ibCoreCheck,
  namespaceCheck,
  deviceCheck,
  ibUverbsCheck,
  uverbsNodeCheck,
  libibverbsCheck,
  openCheck,
  efaDeviceCheck,
  portCheck,
  gidCheck,
  mtuCheck,
  memlockCheck,
  libefaCheck,
  efaCapabilitiesCheck,
  efaDriverCheck,
  hugepagesCheck,
  efaNetworkCheck,
  rdmaUcmCheck,
  rdmaCmNodeCheck,
  librdmacmCheck,
  ibUmadCheck,
  umadNodeCheck,
  libibumadCheck,
  routeCheck,
  routeDeviceCheck,
  neighbourCheck,
  connectCheck,
];
