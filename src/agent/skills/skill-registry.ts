import { type RegistrySkill, readRegistry } from '../../actors/tools/tools.ts';
import { packageRoot } from '../../package-root.ts';

let reading: Promise<RegistrySkill[]> | null = null;

/** Returns the bundled skills sorted by name. Reads them once. */
export function registrySkills(): Promise<RegistrySkill[]> {
  reading ??= readRegistry(packageRoot);
  return reading;
}

/** Finds a bundled skill by name; `null` if there is none. */
export async function registrySkill(name: string): Promise<RegistrySkill | null> {
  return (await registrySkills()).find(({ skill }) => skill.id === name) ?? null;
}
