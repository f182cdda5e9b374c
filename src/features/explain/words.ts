/** The text of a fact: the organization had never used this version or model before that day. */
export const saidFirstUse = (name: string): string => `First use of ${name}`
