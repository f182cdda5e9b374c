/** How wide a text is in one of badge-maker's fonts, with the change in patches/. */
declare module 'anafanafo' {
  const measure: {
    (text: string, options: { font: string; guess?: boolean }): number
    /** The JSON text of a font's table of widths. */
    readTable: (name: string) => string
  }
  export default measure
}
