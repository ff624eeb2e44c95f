/** Sequences that end before a connection: create an id, bind it, resolve an address and its route. */
import type { CmBindResult, CmCreateIdResult, CmResolveResult, CmRoute } from '../model/cm.ts';
import { SCHEMA_IDS } from '../model/schema-ids.ts';
import type { Endpoint } from './address.ts';
import { type CmEnvironment, type CmSettings, conduct } from './session.ts';

export async function createId(settings: CmSettings, environment: CmEnvironment): Promise<CmCreateIdResult> {
  const outcome = await conduct(settings, environment, (session) => session.createId());
  return { schema: SCHEMA_IDS.cmCreateId, ...outcome };
}

/** Binds an id to a local address; the port is that of the settings where the address has none. */
export async function bind(
  local: Endpoint,
  settings: CmSettings,
  environment: CmEnvironment,
): Promise<CmBindResult> {
  const outcome = await conduct(settings, environment, async (session) => {
    await session.createId();
    await session.bind(local, settings.port);
  });
  return { schema: SCHEMA_IDS.cmBind, ...outcome };
}

/** Resolves an address, then the route to it. */
export async function resolve(
  peer: Endpoint,
  settings: CmSettings,
  environment: CmEnvironment,
): Promise<CmResolveResult> {
  let route: CmRoute | null = null;
  const outcome = await conduct(settings, environment, async (session) => {
    await session.createId();
    await session.resolve(peer);
    route = session.route();
  });
  return { schema: SCHEMA_IDS.cmResolve, ...outcome, route };
}
