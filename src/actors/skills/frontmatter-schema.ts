import { z } from 'zod';

/** Lower-case words joined by single hyphens. */
export const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const text = z.string().nullish();
const names = z
  .array(z.string())
  .nullish()
  .transform((list) => list ?? []);

const requires = z.looseObject({
  bins: names,
  env: z.looseObject({ required: names, one_of: names, optional: names }).nullish(),
});

const serviceBlock = z
  .looseObject({
    requires: requires.nullish(),
    idempotent: z.union([z.boolean(), z.array(z.string())]).nullish(),
    guardrails: z.json().optional(),
  })
  .nullish();

/** The keys of a skill's frontmatter that mean something here; others are kept out of the way. */
export const frontmatterSchema = z.looseObject({
  name: z
    .string()
    .max(64, 'name is longer than 64 characters; shorten it')
    .regex(kebabCase, 'name must be lower-case words joined by hyphens, such as issue-refunds'),
  display_name: text,
  description: text,
  category: text,
  tags: names,
  egress_domains: names,
  metadata: z.looseObject({ service: serviceBlock, forge: serviceBlock }).nullish(),
});

export type FrontmatterData = z.infer<typeof frontmatterSchema>;
