// Your class, in about 11 lines: the window may hide the first tiles from a row altogether. m_new is
// -inf and l_new 0 until its first key comes.
