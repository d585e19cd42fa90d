import { type RegistrySkill, readRegistry } from '../actors/tools/tools.ts';
import { packageRoot } from '../package-root.ts';

let reading: Promise<RegistrySkill[]> | null = null;

/** Returns the skills that are shipped with the product, sorted by name; read once. */
export function registrySkills(): Promise<RegistrySkill[]> {
  reading ??= readRegistry(packageRoot);
  return reading;
}

/** Finds one of them; `null` when there is none of that name. */
export async function registrySkill(name: string): Promise<RegistrySkill | null> {
  return (await registrySkills()).find(({ skill }) => skill.id === name) ?? null;
}
