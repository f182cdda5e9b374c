/** Measures the width of a text in one of badge-maker's fonts. `readTable` is added by the patch in patches/. */
declare module 'anafanafo' {
  const measure: {
    (text: string, options: { font: string; guess?: boolean }): number
    /** The JSON text of a font's table of widths. */
    readTable: (name: string) => string
  }
  export default measure
}
