// One encoder and one decoder, loss concealment and in-band FEC included.
