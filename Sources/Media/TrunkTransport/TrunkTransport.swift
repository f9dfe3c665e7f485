// Plain RTP sockets towards the trunk, in even and odd pairs.
